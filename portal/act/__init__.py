"""Act: moving, dropping, restoring and purging data so that nothing is ever lost.

`protocol.py` and its siblings (layout, records, fence, facts, drop, settle, restore, purge, probes)
are free of Django: jobs import them. Models and `services` are the portal's side: who may, what
happened.
"""
