"""Pages of `optimizer.core`."""
