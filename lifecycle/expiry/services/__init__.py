"""Writes of `lifecycle.expiry`."""
