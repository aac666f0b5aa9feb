"""Writes of `lifecycle.rules`."""
