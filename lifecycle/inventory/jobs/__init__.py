"""PySpark programs of `lifecycle.inventory`."""
