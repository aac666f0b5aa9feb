"""REST API of `lifecycle.inventory`."""
