"""Keys, approvals and releases."""
