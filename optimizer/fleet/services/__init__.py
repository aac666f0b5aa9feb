"""Writes of `optimizer.fleet`."""
