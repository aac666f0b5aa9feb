"""Pages of `optimizer.hudi.pages`."""
