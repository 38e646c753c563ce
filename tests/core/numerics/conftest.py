"""Standing here lets the tests of this folder import `operator_cases` and its neighbours."""
