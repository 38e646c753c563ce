"""The workspace's files as screens read them: found by digest, read once for each change."""
