"""Pages of `refresh.clusters`."""
