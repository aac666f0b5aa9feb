"""Integration tests of `quality/freshness`."""
