"""Enrollment: existing tables get LEVEL and TTL together, with two approvals, and an undo.

`services/enrollments.py` moves an enrollment through its states, `services/apply.py` writes the
values to the metastore.
"""
