"""Table services: compaction, clustering, clean, rollback, recovery, partition TTL.

`domain/services.py` decides what may be done beside a table's writer. `jobs/run_services.py` is the
program; `jobs/rules.py` checks again right before each act.
"""
