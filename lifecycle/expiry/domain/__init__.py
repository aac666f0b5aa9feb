"""Pure decisions of `lifecycle.expiry`."""
