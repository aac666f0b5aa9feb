"""Masters that are clusters of others: YARN and Kubernetes.

`settings.py` has the settings of a submission, `hadoop_conf.py` the files that a client of YARN
reads, `refusals.py` what a cluster refuses. `clusters.py` chooses what is asked for applications:
`resource_manager.py` or `kubernetes.py`. `spool_beat.py` and `driver_output.py` are for drivers.
"""
