"""Pure decisions of `optimizer.hudi.planner`."""
