"""Rows of `lifecycle.policies`."""
