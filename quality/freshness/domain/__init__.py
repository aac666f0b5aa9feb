"""Pure decisions of `quality.freshness`."""
