"""Component tests of `optimizer/iceberg/planner`."""
