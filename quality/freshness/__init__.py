"""Freshness rules (SLAs): when a partition is expected, when its rule marks it ready, who is late.

`domain/cadence.py` computes expected partitions, `domain/ready_rule.py` decides,
`services/inspection.py` asks the metastore and marks, and `services/late_mails.py` notifies people.
Freshness of StarRocks front ends is `refresh/freshness`.
"""
