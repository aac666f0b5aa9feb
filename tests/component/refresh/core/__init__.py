"""Component tests of `refresh/core`."""
