"""Unit tests of `optimizer/removals`."""
