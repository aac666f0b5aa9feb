"""Pure decisions of `optimizer.iceberg.planner`."""
