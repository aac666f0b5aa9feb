"""Unit tests of `portal/notices`."""
