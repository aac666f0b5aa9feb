"""Unit tests of `optimizer/iceberg/maintenance`."""
