"""Spark programs of `optimizer.iceberg.rewrite`."""
