"""Component tests of `portal/ui`."""
