"""Writes of `optimizer.iceberg.indexing`: the coverage that jobs found."""
