"""Integration tests of `refresh/worker`."""
