"""From an approved policy to a package, and back: what was really built."""
