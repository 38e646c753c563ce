"""Turning each operator of the model into kernel calls; one family of operators a file."""
