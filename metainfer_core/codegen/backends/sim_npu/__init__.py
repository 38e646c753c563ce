"""The target sim-npu."""
