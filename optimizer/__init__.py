"""The room of file health: compaction, sorting, indexes and table services for Iceberg and Hudi.

Empty so far. It will listen to commits, run Spark jobs in priority order and verify their effect;
see docs/architecture.md, flow 5.
"""
