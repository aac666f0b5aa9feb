"""Integration tests of `pipelines.cdc.applying`."""
