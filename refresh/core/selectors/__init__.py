"""Reads of `refresh.core`."""
