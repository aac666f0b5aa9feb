"""Spark programs of `quality.checks`."""
