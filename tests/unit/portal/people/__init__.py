"""Unit tests of `portal/people`."""
