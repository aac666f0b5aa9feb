"""Unit tests of materializations."""
