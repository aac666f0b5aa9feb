"""Unit tests of `refresh`."""
