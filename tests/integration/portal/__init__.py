"""Integration tests of `portal`."""
