"""Writes of `refresh.worker`."""
