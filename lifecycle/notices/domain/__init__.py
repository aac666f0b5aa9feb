"""Pure decisions of `lifecycle.notices`."""
