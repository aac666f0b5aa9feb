"""Writes of `refresh.verify`."""
