"""Backups: what lies in them, restore, undo of a restore, probes, purge, savings."""
