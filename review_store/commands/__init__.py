"""Commands of `meta-infer` that need the record of the review, or a private key."""
