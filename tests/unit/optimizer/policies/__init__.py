"""Unit tests of `optimizer/policies`."""
