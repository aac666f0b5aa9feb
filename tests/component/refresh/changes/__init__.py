"""Component tests of `refresh/changes`."""
