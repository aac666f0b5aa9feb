"""Writes of `optimizer.iceberg.planner`."""
