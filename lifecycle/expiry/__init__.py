"""The age rule: decides when a table or partition is due, and gives the reason.

`domain/rule.py` is the rule, `domain/words.py` explains it in sentences, and `domain/what_if.py`
computes what another LEVEL or TTL would change. The scan applies the same rule to millions of rows
in `lifecycle/inventory/jobs/expiry_columns.py`.
"""
