"""Component tests of `optimizer.pruning`."""
