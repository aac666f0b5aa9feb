"""Component tests of `lifecycle/expiry`."""
