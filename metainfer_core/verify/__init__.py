"""Independent checks: are two models equal, is a realised graph legal, what did a build really do."""
