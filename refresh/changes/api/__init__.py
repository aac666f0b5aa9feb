"""REST API of `refresh.changes`."""
