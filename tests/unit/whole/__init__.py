"""Unit tests of several areas at once."""
