"""Component tests of `quality/freshness`."""
