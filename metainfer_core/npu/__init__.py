"""Units that work in a memory of their own: what fits there, how work is cut to fit, how DMA feeds it."""
