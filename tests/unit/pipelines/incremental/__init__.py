"""Unit tests of `pipelines.incremental`."""
