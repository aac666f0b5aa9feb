"""Pages of `lifecycle.rules`."""
