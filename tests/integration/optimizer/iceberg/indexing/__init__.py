"""Integration tests of `optimizer/iceberg/indexing`."""
