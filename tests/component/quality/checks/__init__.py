"""Component tests of `quality.checks`."""
