"""Component tests of `portal/audit`."""
