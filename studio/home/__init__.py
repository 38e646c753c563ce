"""The six stations of each model on each chip."""
