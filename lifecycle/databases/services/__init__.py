"""Writes of `lifecycle.databases`."""
