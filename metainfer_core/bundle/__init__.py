"""The signed bundle: reading and verifying. Signing lives in review_store."""
