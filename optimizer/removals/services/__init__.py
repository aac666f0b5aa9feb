"""Writes of `optimizer.removals`."""
