"""Component tests of `pipelines`."""
