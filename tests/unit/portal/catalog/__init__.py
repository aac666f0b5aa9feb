"""Unit tests of `portal/catalog`."""
