"""A workspace kept: backups, upgrades, manuals and their purge."""
