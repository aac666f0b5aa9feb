"""Component tests of `optimizer/iceberg/inspect`."""
