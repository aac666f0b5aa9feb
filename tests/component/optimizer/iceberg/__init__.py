"""Component tests of `optimizer/iceberg`."""
