"""Registers, blocks and interrupts: workbooks, tables, SVD."""
