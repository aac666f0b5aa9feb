"""Integration tests of several areas at once."""
