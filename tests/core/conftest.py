"""Standing here lets every test of the core import `tiny_models` (pytest puts this folder on the path)."""
