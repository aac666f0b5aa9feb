"""Component tests of `lifecycle/restore_tests`."""
