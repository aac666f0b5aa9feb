"""Unit tests of `pipelines.cdc.protecting`."""
