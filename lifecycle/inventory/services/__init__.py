"""Writes of `lifecycle.inventory`."""
