"""Unit tests of `optimizer`."""
