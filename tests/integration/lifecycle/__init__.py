"""Integration tests of `lifecycle`."""
