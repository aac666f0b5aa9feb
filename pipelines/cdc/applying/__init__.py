"""Applies captured changes to tables of the lake, by version."""
