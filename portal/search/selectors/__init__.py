"""Queries of the index, and of what else the platform finds."""
