"""Integration tests of `lifecycle/planning`."""
