"""Integration tests of `portal/runs`."""
