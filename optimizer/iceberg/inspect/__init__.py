"""Inspection of Iceberg metadata, and the health that follows from it."""
