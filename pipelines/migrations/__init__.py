"""Migrations of the app `pipelines`."""
