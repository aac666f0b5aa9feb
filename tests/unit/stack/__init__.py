"""Unit tests of `stack`."""
