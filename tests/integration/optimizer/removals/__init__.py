"""Integration tests of `optimizer/removals`."""
