"""Freshness: whether a table is stale on a front end, and whether a write is visible everywhere.

`domain/freshness.py` decides the status (fresh, stale, diverged, cold or unknown),
`domain/pending_refresh.py` which changes a front end has not loaded, `domain/coverage.py` which
changes a refresh loads, and `domain/visibility.py` whether a write is visible on every front end.
"""
