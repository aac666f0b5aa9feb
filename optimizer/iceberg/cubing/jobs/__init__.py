"""Spark programs of `optimizer.iceberg.cubing`."""
