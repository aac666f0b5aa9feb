"""Passwords of `pipelines.cdc.changes`."""
