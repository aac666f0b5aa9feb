"""Unit tests of `lifecycle/restore_tests`."""
