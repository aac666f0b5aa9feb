"""Integration tests of `pipelines.cdc.control`."""
