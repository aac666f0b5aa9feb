"""Pure decisions of `optimizer.iceberg.inspect`."""
