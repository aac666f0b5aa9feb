"""The program of `optimizer.proxy`."""
