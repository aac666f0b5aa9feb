"""Unit tests of `lifecycle/guard`."""
