"""Writes of `optimizer.hudi.planner`."""
