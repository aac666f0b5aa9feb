"""Writes of `optimizer.iceberg.tables`."""
