"""A model made static: bound shapes, folded chains, unrolled loops, branches decided."""
