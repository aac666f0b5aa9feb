"""The room of file health: compaction, sorting, indexes and table services for Iceberg and Hudi.

It hears of commits, knows each table's files, decides with a reason, and runs Spark jobs that put
the files right; see docs/architecture.md, flow 5.
"""
