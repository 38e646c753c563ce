"""One backend a folder."""
