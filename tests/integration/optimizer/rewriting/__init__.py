"""Rewriting of queries on a real lake."""
