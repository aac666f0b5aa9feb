"""Spark programs of `optimizer.advice`."""
