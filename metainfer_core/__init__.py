"""The headless compiler core: from a chip's spec and a model to a signed, self-proving package."""

import os

__version__ = "0.1.0"

# ONNX Runtime reports each model that it loads to its vendor, from Linux too since 1.29, unless this is set before it
# is imported (its Privacy.md). Models and what is done with them stay on the machine, so nobody can set it otherwise.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
