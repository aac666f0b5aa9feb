"""Reads of `optimizer.core`."""
