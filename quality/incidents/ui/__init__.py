"""Pages of `quality.incidents`."""
