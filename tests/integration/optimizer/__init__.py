"""Integration tests of `optimizer`."""
