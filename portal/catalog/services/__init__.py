"""Writes of the catalog."""
