"""A page as words with boxes, and words as lines in reading order."""
