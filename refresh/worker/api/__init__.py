"""REST API of `refresh.worker`."""
