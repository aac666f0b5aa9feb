"""Queries of layers."""
