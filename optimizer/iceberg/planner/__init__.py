"""The planner: which tasks an Iceberg table needs, in which order, and their results.

`services/planner.py` queues tasks after a commit or an inspection, `domain/deciding.py` and
`domain/partition_rules.py` decide, `domain/conflicts.py` and `domain/deferral.py` wait for other
writers, and `services/scheduler.py` keeps budgets. `services/maintainer.py` plugs Iceberg into the
queue in `optimizer/core`.
"""
