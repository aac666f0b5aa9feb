"""REST API of `lifecycle.restore`."""
