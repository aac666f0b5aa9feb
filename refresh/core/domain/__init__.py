"""Pure decisions of `refresh.core`."""
