"""Unit tests of `quality`."""
