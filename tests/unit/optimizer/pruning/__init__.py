"""Unit tests of `optimizer.pruning`."""
