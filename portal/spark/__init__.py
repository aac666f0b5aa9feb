"""Spark programs: submit, find again and kill them, and the spool by which they talk to the portal.

`launch.py` submits, `entry.py` is the entry point of every job, `spool.py` has request, progress
and manifest.
"""
