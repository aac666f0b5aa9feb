"""Advice played day by day."""
