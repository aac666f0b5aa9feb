"""Pages of `lifecycle.inventory`."""
