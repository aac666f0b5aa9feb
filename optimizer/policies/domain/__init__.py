"""Pure decisions of `optimizer.policies`."""
