"""Unit tests of `pipelines/cdc/reconciling`."""
