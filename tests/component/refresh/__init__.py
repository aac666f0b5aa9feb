"""Component tests of `refresh`."""
