"""REST API of `refresh.freshness`."""
