"""Unit tests of `portal/events`."""
