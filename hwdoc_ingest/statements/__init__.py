"""What a page says, one thing at a time, and the numbers in it."""
