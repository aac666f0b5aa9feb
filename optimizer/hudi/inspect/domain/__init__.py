"""Pure decisions of `optimizer.hudi.inspect`."""
