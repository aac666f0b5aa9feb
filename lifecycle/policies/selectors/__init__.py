"""Reads of `lifecycle.policies`."""
