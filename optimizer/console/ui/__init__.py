"""Pages of `optimizer.console`."""
