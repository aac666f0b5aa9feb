"""Rows of `lifecycle.drop`."""
