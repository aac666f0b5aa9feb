"""Unit tests of `portal/spark`."""
