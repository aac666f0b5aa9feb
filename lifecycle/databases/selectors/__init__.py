"""Reads of `lifecycle.databases`."""
