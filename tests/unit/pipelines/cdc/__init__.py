"""Unit tests of `pipelines.cdc`."""
