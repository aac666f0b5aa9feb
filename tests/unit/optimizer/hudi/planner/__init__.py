"""Unit tests of `optimizer/hudi/planner`."""
