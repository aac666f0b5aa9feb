"""REST API of `refresh.history`."""
