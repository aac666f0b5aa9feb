"""Writes of `optimizer.iceberg.maintenance`."""
