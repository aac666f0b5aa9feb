"""Inspection of Iceberg metadata, and the health that follows from it.

`jobs/inspect_tables.py` reads metadata in Spark, `services/inspection.py` takes the result in, and
`domain/health.py` scores it.
"""
