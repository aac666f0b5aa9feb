"""Pages of `lifecycle.policies`."""
