"""Unit tests of `portal`."""
