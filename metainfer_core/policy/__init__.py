"""Which actions are taken for one model on one chip, in which order, at which risk."""
