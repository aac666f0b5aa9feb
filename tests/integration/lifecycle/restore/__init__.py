"""Integration tests of `lifecycle/restore`."""
