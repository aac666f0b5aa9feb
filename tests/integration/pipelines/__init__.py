"""Integration tests of `pipelines`."""
