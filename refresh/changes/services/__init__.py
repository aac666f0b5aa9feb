"""Writes of `refresh.changes`."""
