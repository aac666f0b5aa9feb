"""Unit tests of `lifecycle/planning`."""
