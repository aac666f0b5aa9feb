"""Integration tests of `optimizer/indexes`."""
