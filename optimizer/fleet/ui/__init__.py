"""Pages of `optimizer.fleet`."""
