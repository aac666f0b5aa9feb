"""Iceberg tables as the portal knows them: rows, commits, pages and API.

`domain/events.py` parses metastore events and `services/record_changes.py` stores tables and
commits.
"""
