"""Which words must be read from an image, and how what is misread is mended."""
