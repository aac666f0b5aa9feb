"""Unit tests of `optimizer/iceberg/planner`."""
