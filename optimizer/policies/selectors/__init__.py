"""Reads of `optimizer.policies`."""
