"""Reads of `quality.incidents`."""
