"""Spark programs of `optimizer.iceberg.execution`."""
