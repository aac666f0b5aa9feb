"""Component tests of `portal/people`."""
