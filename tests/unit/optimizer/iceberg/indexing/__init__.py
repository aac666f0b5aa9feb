"""Unit tests of `optimizer/iceberg/indexing`."""
