"""Unit tests of `portal/lake`."""
