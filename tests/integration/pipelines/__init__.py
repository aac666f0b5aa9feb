"""Pipelines over real servers."""
