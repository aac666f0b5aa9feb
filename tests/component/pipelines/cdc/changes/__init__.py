"""Component tests of `pipelines.cdc.changes`."""
