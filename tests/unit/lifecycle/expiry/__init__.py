"""Unit tests of `lifecycle/expiry`."""
