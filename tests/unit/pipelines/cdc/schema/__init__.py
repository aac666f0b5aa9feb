"""Unit tests of `pipelines.cdc.schema`."""
