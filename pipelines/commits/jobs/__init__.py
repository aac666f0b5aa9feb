"""Reads tables at commits, and writes targets that say how far they have read."""
