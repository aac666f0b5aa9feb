"""Approvals of destructive actions by enough of the right people, for exact content."""
