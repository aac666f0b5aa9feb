"""Component tests of `refresh/history`."""
