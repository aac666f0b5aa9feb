"""Component tests of `optimizer/hudi/planner`."""
