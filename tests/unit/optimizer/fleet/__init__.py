"""Unit tests of `optimizer.queries`."""
