"""Integration tests of `optimizer/iceberg/access`."""
