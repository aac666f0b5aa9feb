"""Component tests of `optimizer/iceberg/indexing`."""
