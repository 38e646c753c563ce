"""Candidates held against known facts, and marked places against the values that they are for."""
