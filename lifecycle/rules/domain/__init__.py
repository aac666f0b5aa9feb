"""Pure decisions of `lifecycle.rules`."""
