"""Integration tests of `lifecycle/backup`."""
