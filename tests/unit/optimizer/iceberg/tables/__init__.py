"""Unit tests of `optimizer/iceberg/tables`."""
