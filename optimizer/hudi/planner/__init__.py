"""The planner: which services a Hudi table needs, in which order, and their results.

`domain/needs.py` finds the service steps that are needed, `domain/deciding.py` decides on them,
`services/planner.py` queues them, and `services/maintainer.py` plugs Hudi into the queue in
`optimizer/core`.
"""
