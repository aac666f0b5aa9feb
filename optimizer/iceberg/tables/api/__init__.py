"""REST API of `optimizer.iceberg.tables`."""
