"""Component tests of `lifecycle`."""
