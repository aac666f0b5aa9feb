"""Integration tests of `lifecycle/guard`."""
