"""Unit tests of `portal/search`."""
