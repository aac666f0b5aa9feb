"""Component tests of `lifecycle/backup`."""
