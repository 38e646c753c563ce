"""The headless compiler core: from a chip's spec and a model to a signed, self-proving package."""

__version__ = "0.1.0"
