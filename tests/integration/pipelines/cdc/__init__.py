"""Integration tests of `pipelines.cdc`."""
