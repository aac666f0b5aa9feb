"""The planner: which tasks an Iceberg table needs, in which order, and their results.

`services/planner.py` queues tasks after a commit or an inspection, `domain/deciding.py` and
`domain/partition_rules.py` decide, and `domain/conflicts.py` waits for other writers.
`services/maintainer.py` keeps budgets, and plugs Iceberg into the queue in `optimizer/core`.
"""
