"""Reads of `optimizer.iceberg.tables`."""
