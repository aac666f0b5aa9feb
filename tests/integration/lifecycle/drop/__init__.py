"""Integration tests of `lifecycle/drop`."""
