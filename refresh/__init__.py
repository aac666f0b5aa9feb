"""Cache refresh: keeps the Hive metadata caches of StarRocks front ends up to date.

In this order: `changes` records what changed, `worker` plans and sends refresh statements, and
`freshness` decides whether a table is up to date or stale on each front end
(`freshness/domain/freshness.py`). `verify` finds changes that nobody reported, `history` keeps the
statements that were sent, `clusters` has the clusters with their front ends, and `core` speaks to
StarRocks. `client.py` is copied to schedulers that wait for a write to be visible.
"""
