"""Hudi tables as the portal knows them: rows, metastore changes, and access of jobs.

`services/record_changes.py` stores what events and polls say; `jobs/table.py` opens a table for a
job.
"""
