"""Unit tests of `lifecycle/notices`."""
