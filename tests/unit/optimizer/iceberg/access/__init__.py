"""Unit tests of `optimizer/iceberg/access`."""
