"""Integration tests of `optimizer/iceberg/tables`."""
