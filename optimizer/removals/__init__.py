"""Removal lists: what would be deleted, its approval, and the lease under which a run deletes.

`services/removals.py` moves a list through its approval, `services/claims.py` gives it to a run,
and `jobs/guard.py` records each deletion.
"""
