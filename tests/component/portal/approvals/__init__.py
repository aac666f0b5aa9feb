"""Component tests of `portal/approvals`."""
