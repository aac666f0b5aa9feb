"""Unit tests of `portal/settings`."""
