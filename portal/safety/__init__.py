"""Safety: what every run that acts on a lake needs, whichever area it belongs to.

The emergency stop of a lake (models, selectors, services), the fence with its lease behind which a
run acts (`fence.py`), the proof that a run's application has ended (`ended.py`), and the points at
which a test kills an acting process (`failpoints.py`). `fence` and `failpoints` are free of Django:
jobs import them.
"""
