"""Writes of `lifecycle.guard`."""
