"""Writes of `lifecycle.core`."""
