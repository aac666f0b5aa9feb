"""Pure decisions of `optimizer.hudi.tables`."""
