"""Pure decisions of `refresh.verify`."""
