"""PySpark programs of the lifecycle room: they read, transform and act; no Django, no people."""
