"""REST API of `quality.freshness`."""
