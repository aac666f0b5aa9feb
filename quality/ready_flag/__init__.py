"""The ready flag of a partition: schedulers and people mark data as complete or not.

`services/marking.py` sets the flag in the metastore; its meaning is in `portal/lake/readiness.py`.
"""
