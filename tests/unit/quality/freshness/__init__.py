"""Unit tests of `quality/freshness`."""
