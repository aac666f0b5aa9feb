"""Spark functions for those who may read protected columns."""
