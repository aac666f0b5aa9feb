"""Unit tests of `portal/connectors/name_services`."""
