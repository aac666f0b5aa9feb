"""Unit tests of `optimizer/core`."""
