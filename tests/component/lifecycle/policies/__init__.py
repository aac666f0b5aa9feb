"""Component tests of `lifecycle/policies`."""
