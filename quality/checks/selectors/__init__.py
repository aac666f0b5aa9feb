"""Reads of `quality.checks`."""
