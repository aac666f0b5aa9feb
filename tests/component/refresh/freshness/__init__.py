"""Component tests of `refresh/freshness`."""
