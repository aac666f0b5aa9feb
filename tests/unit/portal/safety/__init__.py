"""Unit tests of `portal/safety`."""
