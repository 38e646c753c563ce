"""Commands that run in the background: processes of their own, with a table of what runs."""
