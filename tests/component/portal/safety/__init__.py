"""Component tests of `portal/safety`."""
