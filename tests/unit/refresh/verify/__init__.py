"""Unit tests of `refresh/verify`."""
