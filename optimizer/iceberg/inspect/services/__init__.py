"""Writes of `optimizer.iceberg.inspect`."""
