"""Spark programs of `optimizer.cubes`."""
