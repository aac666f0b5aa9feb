"""Pages of `quality.checks`."""
