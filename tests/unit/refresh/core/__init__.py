"""Unit tests of `refresh/core`."""
