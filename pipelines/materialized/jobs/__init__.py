"""Spark programs of materializations."""
