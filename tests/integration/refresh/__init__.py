"""Integration tests of `refresh`."""
