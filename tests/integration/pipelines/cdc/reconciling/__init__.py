"""Integration tests of `pipelines.cdc.reconciling`."""
