"""Writes of `lifecycle.planning`."""
