"""Reads of `lifecycle.drop`."""
