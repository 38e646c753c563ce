"""Arithmetic as the hardware does it: kernels, the program that calls them, the simulator, and honest metrics."""
