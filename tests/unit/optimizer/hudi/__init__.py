"""Unit tests of `optimizer/hudi`."""
