"""Component tests of `lifecycle/rules`."""
