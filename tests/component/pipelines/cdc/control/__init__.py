"""Component tests of `pipelines.cdc.control`."""
