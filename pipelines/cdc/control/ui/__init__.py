"""Pages of `pipelines.cdc.control`."""
