"""Pure decisions of `lifecycle.drop`."""
