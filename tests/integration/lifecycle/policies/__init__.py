"""Integration tests of `lifecycle/policies`."""
