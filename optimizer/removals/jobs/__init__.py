"""Spark programs of `optimizer.removals`."""
