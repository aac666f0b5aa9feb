"""PySpark programs of `lifecycle.planning`."""
