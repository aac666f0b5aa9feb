"""Pages of `pipelines.cdc.reconciling`."""
