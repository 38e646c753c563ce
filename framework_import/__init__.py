"""Models of PyTorch and TensorFlow, brought to ONNX by those frameworks' own exporters in a process with limits."""
