"""Spark programs of `optimizer.hudi.maintenance`."""
