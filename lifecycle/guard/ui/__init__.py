"""Pages of `lifecycle.guard`."""
