"""PySpark programs of `lifecycle.restore_tests`."""
