"""REST API of `optimizer.iceberg.planner`."""
