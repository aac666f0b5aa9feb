"""Writes of `lifecycle.restore`."""
