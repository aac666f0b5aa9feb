"""Pure decisions of `optimizer.iceberg.indexing`: which indexes are asked for."""
