"""What several documents of one chip say, side by side."""
