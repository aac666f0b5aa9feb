"""Reads of `lifecycle.inventory`."""
