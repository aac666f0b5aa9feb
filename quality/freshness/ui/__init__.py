"""Pages of `quality.freshness`."""
