"""Pure decisions of `refresh.changes`."""
