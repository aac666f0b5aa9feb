"""Pages of `lifecycle.drop`."""
