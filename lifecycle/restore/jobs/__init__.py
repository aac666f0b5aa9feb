"""PySpark programs of `lifecycle.restore`."""
