"""Integration tests of `optimizer/iceberg`."""
