"""Writes of `optimizer.policies`."""
