"""REST API of `lifecycle.core`."""
