"""Operator tables as typed rules."""
