"""Writes of `pipelines.cdc.control`."""
