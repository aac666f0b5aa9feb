"""Pure decisions of `optimizer.iceberg.rewrite`."""
