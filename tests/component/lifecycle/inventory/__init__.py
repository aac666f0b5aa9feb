"""Component tests of `lifecycle/inventory`."""
