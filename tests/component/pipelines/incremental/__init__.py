"""Component tests of `pipelines.incremental`."""
