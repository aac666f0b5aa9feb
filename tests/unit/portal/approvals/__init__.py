"""Unit tests of `portal/approvals`."""
