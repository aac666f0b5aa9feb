"""REST API of `pipelines.cdc.reconciling`."""
