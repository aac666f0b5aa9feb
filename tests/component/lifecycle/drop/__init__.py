"""Component tests of `lifecycle/drop`."""
