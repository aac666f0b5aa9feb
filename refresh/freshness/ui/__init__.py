"""Pages of `refresh.freshness`."""
