"""Integration tests of `lifecycle/restore_tests`."""
