"""Unit tests of `refresh/worker`."""
