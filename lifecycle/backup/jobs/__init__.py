"""PySpark programs of `lifecycle.backup`."""
