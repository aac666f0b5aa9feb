"""Writes of `lifecycle.restore_tests`."""
