"""Component tests of `refresh/worker`."""
