"""Integration tests of `portal/ui`."""
