"""Integration tests of `stack/lake`."""
