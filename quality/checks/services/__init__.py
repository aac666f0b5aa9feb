"""Writes of `quality.checks`."""
