"""Pure decisions of `lifecycle.inventory`."""
