"""Changes of Hive tables, as reported by metastore events, schedulers and people.

`services/event_handlers.py` and `services/webhooks.py` take them in; `services/record_changes.py`
records each once and marks every front end that shows the table as stale.
"""
