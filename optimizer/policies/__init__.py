"""Policies: what people want done to a table, a pattern of tables or a lake; history, budgets.

`domain/policy.py` resolves which scope sets each field, `domain/formats.py` says how formats
differ, and `services/preview.py` shows what a change would do.
"""
