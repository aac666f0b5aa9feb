"""Writes of `optimizer.discovery`."""
