"""Spark programs of `optimizer.hudi.inspect`."""
