"""Integration tests of `optimizer/iceberg/maintenance`."""
