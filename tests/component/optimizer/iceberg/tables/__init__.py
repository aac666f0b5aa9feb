"""Component tests of `optimizer/iceberg/tables`."""
