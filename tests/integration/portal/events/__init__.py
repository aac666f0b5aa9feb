"""Integration tests of `portal/events`."""
