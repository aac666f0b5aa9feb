"""Runs: request, execution, result, and the takeover when a worker dies.

`requests/services.py` creates a run and its message in `outbox`. `execution/steps.py` claims and
starts it or ends it, `execution/polling.py` follows its application, and `execution/settling.py`
ends it. `kinds/registry.py` says what each kind of run adds, `kinds/ticks.py` what the scheduler
calls without a run.
"""
