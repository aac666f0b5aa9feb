"""Reads of `optimizer.hudi.inspect`."""
