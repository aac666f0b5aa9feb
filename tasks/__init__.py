"""Background work: the Celery tasks, and the loops of `manage.py supervise`. It contains no rules.

`relay.py` sends messages, `base.py` receives them, `schedule.py` starts what is due by the clock,
`supervise.py` polls running applications, `watchdog.py` recovers from dead workers, and `follow.py`
follows the metastore.
"""
