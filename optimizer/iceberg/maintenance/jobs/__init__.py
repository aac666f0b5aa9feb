"""Spark programs of `optimizer.iceberg.maintenance`."""
