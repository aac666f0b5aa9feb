"""Integration tests of `optimizer/iceberg/rewrite`."""
