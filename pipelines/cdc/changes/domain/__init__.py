"""Versions, records and schemas of captured changes, without a database or a file."""
