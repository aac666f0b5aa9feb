"""REST API of `optimizer.policies`."""
