"""What can be changed about a model, why, and what must hold afterwards."""
