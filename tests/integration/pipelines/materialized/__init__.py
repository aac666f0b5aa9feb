"""Materializations on real tables."""
