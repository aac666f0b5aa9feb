"""Unit tests of `portal/runs`."""
