"""Spark programs of `optimizer.iceberg.indexing`."""
