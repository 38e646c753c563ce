"""A review to take along."""
