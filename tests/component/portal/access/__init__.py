"""Component tests of `portal/access`."""
