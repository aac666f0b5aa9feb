"""Reads of `quality.freshness`."""
