"""`python -m metainfer_core` is the command `meta-infer`."""

from metainfer_core.cli import main

main()
