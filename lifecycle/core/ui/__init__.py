"""Pages of `lifecycle.core`."""
