"""A spec held against its documents."""
