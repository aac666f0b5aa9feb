"""Rows of `lifecycle.inventory`."""
