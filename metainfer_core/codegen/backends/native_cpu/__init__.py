"""The machine that builds: x86-64 with AVX2, and AVX-512 where there is."""
