"""What is known about a chip: the HardwareSpec, where each value comes from, and the checks on it."""
