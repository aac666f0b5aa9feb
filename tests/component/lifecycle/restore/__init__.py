"""Component tests of `lifecycle/restore`."""
