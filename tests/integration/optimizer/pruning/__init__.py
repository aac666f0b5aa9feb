"""Integration tests of `optimizer.pruning`."""
