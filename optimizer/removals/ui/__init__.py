"""Pages of `optimizer.removals`."""
