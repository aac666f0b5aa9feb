"""Integration tests of `portal/access`."""
