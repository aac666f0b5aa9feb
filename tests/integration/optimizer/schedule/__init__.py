"""Integration tests of `optimizer.schedule`."""
