"""Reads of `refresh.worker`."""
