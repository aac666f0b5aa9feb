"""Queries of materializations."""
