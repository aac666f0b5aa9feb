"""Unit tests of `optimizer/iceberg/rewrite`."""
