"""Unit tests of `pipelines.cdc.changes`."""
