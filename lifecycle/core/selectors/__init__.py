"""Reads of `lifecycle.core`."""
