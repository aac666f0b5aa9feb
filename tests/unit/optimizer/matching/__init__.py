"""Queries compared with stored aggregates."""
