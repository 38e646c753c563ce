"""Who decided what about which value: an append-only record, and signing."""
