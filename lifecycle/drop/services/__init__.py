"""Writes of `lifecycle.drop`."""
