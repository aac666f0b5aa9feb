"""Unit tests of `lifecycle/core`."""
