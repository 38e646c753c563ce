"""Changes of a model's structure that need training again, as proposals."""
