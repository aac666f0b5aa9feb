"""Unit tests of `refresh/clusters`."""
