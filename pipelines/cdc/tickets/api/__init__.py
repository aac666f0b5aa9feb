"""REST API of `pipelines.cdc.tickets`."""
