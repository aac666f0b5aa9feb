"""Unit tests of `pipelines.cdc.control`."""
