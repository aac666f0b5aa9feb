"""Pages of `lifecycle.restore_tests`."""
