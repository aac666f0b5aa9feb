"""Pages of `optimizer.iceberg.maintenance`."""
