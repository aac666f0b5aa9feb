"""Integration tests of `pipelines.incremental`."""
