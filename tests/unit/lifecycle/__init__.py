"""Unit tests of `lifecycle`."""
