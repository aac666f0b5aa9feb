"""Integration tests of `optimizer/discovery`."""
