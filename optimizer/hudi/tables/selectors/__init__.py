"""Reads of `optimizer.hudi.tables`."""
