"""Pages of `optimizer.policies`."""
