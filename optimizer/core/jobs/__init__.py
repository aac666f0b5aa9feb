"""Spark programs of `optimizer.core`."""
