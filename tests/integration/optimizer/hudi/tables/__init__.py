"""Integration tests of `optimizer/hudi/tables`."""
