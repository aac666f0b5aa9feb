"""Approved drops with a backup: drop plans, deletion requests, standing rules, and their runs.

`services/draft.py` selects the items by `domain/refusal.py`, `services/store.py` freezes them with
a digest (`domain/plan.py`) and asks for approval, and `services/execution.py` starts the plan. The
Spark program is `jobs.py`; the engine that moves data is `lifecycle/backup/engine`. Standing rules
approve a table's daily drops in advance (`domain/standing.py`).
"""
