"""Component tests of `quality`."""
