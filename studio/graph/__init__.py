"""The studio's own view of a graph: grouped, coloured, clickable."""
