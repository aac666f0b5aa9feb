"""REST API of `lifecycle.restore_tests`."""
