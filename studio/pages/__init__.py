"""Pictures of manuals' pages, and the spots on them that values were read from."""
