"""Writes of `refresh.clusters`."""
