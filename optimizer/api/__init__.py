"""The optimizer room's part of the REST API."""
