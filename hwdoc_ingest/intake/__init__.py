"""A document that nobody vouches for, read in a child process with limits."""
