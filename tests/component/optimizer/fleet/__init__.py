"""Component tests of `optimizer.queries`."""
