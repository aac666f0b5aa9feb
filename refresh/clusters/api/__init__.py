"""REST API of `refresh.clusters`."""
