"""Reads of `pipelines.cdc.control`."""
