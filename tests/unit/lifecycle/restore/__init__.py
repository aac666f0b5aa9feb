"""Unit tests of `lifecycle/restore`."""
