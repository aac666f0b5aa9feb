"""Spark programs of `optimizer.hudi.tables`."""
