"""Unit tests of `optimizer/iceberg/inspect`."""
