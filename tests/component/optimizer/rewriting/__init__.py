"""Component tests of `optimizer.rewriting`."""
