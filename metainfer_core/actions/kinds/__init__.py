"""One action kind a file."""
