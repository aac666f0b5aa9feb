"""Pages of `optimizer.iceberg.indexing`."""
