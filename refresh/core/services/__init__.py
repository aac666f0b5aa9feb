"""Writes of `refresh.core`."""
