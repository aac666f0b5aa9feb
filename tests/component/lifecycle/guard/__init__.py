"""Component tests of `lifecycle/guard`."""
