"""Component tests of `pipelines.cdc.schema_requests`."""
