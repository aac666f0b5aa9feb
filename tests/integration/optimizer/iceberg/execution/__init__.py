"""Integration tests of `optimizer/iceberg/execution`."""
