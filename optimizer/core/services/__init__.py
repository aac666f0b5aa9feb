"""Writes of `optimizer.core`."""
