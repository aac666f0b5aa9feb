"""Writes of `quality.freshness`."""
