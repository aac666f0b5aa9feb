"""Spark programs of `optimizer.pruning`."""
