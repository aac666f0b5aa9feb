"""Integration tests of `optimizer.advice`."""
