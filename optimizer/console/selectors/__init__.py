"""Reads of `optimizer.console`."""
