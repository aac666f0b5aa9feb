"""Inspection of timelines, file slices and logs, and the findings and health that follow.

`jobs/inspect_tables.py` reads, `domain/findings.py` and `domain/damage.py` judge,
`services/inspection.py` stores, and `services/alarms.py` notifies people.
"""
