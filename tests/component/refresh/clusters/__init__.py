"""Component tests of `refresh/clusters`."""
