"""Spark programs of `optimizer.rewriting`."""
