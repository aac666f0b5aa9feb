"""Unit tests of `pipelines.cdc.capture`."""
