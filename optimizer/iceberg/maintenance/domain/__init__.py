"""Pure decisions of `optimizer.iceberg.maintenance`."""
