"""Pure decisions of `optimizer.hudi.maintenance`."""
