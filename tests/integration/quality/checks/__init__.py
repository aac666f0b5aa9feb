"""Integration tests of `quality/checks`."""
