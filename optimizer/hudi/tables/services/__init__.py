"""Writes of `optimizer.hudi.tables`."""
