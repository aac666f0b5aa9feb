"""Unit tests of `refresh/freshness`."""
