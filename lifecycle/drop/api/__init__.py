"""REST API of `lifecycle.drop`."""
