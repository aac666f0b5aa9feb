"""Unit tests of commits and positions."""
