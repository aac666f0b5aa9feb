"""Integration tests of `optimizer/iceberg/planner`."""
