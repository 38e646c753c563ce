"""A sample to try the whole loop on: an invented chip's data sheet, a real model, and data made for it."""
