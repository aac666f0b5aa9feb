"""Writes of `refresh.freshness`."""
