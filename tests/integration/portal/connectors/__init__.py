"""Integration tests of `portal/connectors`."""
