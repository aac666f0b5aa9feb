"""Component tests of `lifecycle/enrollment`."""
