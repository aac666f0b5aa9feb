"""Unit tests of `pipelines.cdc.applying`."""
