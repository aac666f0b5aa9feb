"""Migrations of the lifecycle room."""
