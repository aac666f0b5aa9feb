"""Writes of `optimizer.advice`."""
