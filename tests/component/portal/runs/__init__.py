"""Component tests of `portal/runs`."""
