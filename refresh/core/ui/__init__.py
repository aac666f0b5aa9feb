"""Pages of `refresh.core`."""
