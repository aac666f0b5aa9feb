"""Component tests of `refresh/verify`."""
