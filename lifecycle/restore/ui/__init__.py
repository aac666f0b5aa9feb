"""Pages of `lifecycle.restore`."""
