"""Models: import, node ids, static shapes, folding, and questions about a graph."""
