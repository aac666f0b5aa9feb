"""Component tests of `portal/spark`."""
