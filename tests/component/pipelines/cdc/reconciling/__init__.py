"""Component tests of `pipelines.cdc.reconciling`."""
