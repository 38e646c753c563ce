"""64-bit Arm under Linux, cross-compiled."""
