"""Reads of `refresh.freshness`."""
