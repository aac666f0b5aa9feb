"""Reads of `lifecycle.restore`."""
