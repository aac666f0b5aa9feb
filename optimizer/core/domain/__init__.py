"""Pure decisions of `optimizer.core`."""
