"""Integration tests of `quality`."""
