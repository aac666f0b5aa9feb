"""The follower: takes in each notification of the metastore exactly once, and finds gaps.

`services.py` follows and gives events to the subscribers in `registry.py`; `gaps.py` decides what
was missed.
"""
