"""Component tests of `portal`."""
