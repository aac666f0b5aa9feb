"""Pure decisions of `refresh.clusters`."""
