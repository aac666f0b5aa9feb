"""Unit tests of `lifecycle/inventory`."""
