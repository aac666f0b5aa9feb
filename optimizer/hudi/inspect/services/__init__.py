"""Writes of `optimizer.hudi.inspect`."""
