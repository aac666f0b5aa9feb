"""Spark programs of `optimizer.iceberg.inspect`."""
