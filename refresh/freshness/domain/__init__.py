"""Pure decisions of `refresh.freshness`."""
