"""Aggregates of tables, kept by what changed in them."""
