"""Integration tests of `lifecycle/inventory`."""
