"""Pure decisions of `optimizer.removals`."""
