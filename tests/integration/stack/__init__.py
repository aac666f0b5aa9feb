"""Integration tests of `stack`."""
