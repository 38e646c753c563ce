"""The state of a review, and the decisions that change it."""
