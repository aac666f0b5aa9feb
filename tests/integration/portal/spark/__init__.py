"""Integration tests of `portal/spark`."""
