"""Component tests of `portal/search`."""
