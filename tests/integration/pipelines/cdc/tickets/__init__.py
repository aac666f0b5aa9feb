"""Tests of `pipelines.cdc.tickets`."""
