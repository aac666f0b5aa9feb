"""Unit tests of `quality/incidents`."""
