"""Unit tests of `portal/connectors`."""
