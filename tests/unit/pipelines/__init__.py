"""Unit tests of `pipelines`."""
