"""Masters that are clusters of others: YARN and Kubernetes.

`settings.py` has the settings of a submission, `hadoop_conf.py` the files that a client of YARN
reads, `resource_manager.py` the applications as YARN sees them, `refusals.py` its refusals.
"""
