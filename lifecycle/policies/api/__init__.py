"""REST API of `lifecycle.policies`."""
