"""Pages of `pipelines.cdc.tickets`."""
