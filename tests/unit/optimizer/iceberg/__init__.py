"""Unit tests of `optimizer/iceberg`."""
