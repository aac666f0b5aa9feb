"""REST API of `pipelines.cdc.control`."""
