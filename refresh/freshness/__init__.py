"""How fresh each table is on each front end, and whether a write is visible everywhere.

`domain/pending_refresh.py` works out what a front end still needs, `domain/freshness.py` judges it.
"""
