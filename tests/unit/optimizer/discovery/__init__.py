"""Unit tests of `optimizer/discovery`."""
