"""Unit tests of `lifecycle/rules`."""
