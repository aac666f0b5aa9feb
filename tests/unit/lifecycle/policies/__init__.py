"""Unit tests of `lifecycle/policies`."""
