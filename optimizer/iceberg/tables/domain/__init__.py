"""Pure decisions of `optimizer.iceberg.tables`."""
