"""Integration tests of `optimizer.queries`."""
