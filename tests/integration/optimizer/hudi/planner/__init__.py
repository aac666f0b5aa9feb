"""Integration tests of `optimizer/hudi/planner`."""
