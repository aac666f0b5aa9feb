"""The room of cache refresh: keeping what StarRocks front ends cache of Hive metadata fresh.

Empty so far. It will listen to metastore events through `portal.events`, coalesce them, and refresh
every front end in lanes; see docs/architecture.md, flow 4.
"""
