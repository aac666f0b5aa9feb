"""Pure decisions of `quality.checks`."""
