"""Component tests of `quality.incidents`."""
