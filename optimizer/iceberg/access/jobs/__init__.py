"""Spark programs of `optimizer.iceberg.access`."""
