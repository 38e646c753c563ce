"""Microbenchmarks: small programs that run on a machine and find what its manual leaves out."""
