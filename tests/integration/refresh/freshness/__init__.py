"""Integration tests of `refresh/freshness`."""
