"""Integration tests of `optimizer/hudi`."""
