"""Unit tests of `quality/checks`."""
