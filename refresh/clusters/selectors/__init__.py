"""Reads of `refresh.clusters`."""
