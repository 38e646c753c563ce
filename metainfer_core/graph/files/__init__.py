"""A model's file: checked as hostile, read with its functions and external data, and written."""
