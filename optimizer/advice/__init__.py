"""Advice from recorded queries: how a table should be sorted, indexed and aggregated.

`domain/` understands queries: their shapes, and what they ask of each table. Recording them,
trying advice and applying it are built on it.
"""
