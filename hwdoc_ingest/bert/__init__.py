"""The encoder: a small BERT that reads a statement and says what each of its numbers is about."""
