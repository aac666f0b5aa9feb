"""Reads of `lifecycle.planning`."""
