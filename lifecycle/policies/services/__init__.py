"""Writes of `lifecycle.policies`."""
