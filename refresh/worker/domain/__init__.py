"""Pure decisions of `refresh.worker`."""
