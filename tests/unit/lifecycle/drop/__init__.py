"""Unit tests of `lifecycle/drop`."""
