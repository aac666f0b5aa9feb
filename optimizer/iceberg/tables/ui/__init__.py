"""Pages of `optimizer.iceberg.tables`."""
