"""Component tests of `pipelines.cdc`."""
