"""Pure decisions of `lifecycle.policies`."""
