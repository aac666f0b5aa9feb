"""Reads of `lifecycle.rules`."""
