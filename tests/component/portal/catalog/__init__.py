"""Component tests of `portal/catalog`."""
