"""Changelogs on the disk of this machine."""
