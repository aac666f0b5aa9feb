"""Writes of `quality.incidents`."""
