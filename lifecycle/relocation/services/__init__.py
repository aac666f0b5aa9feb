"""Writes of `lifecycle.relocation`."""
