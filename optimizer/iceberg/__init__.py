"""Iceberg tables: from a commit to an inspection, a decision, and a rewrite of files.

In this order: `tables` records the commit, `planner/domain/commit_trigger.py` queues a compaction
where the commit's own totals call for one, `inspect` reads the metadata, `planner` decides on each
partition (`planner/domain/partition_rules.py`) and orders the tasks, `execution/jobs/optimize.py`
executes them in one Spark application, and `rewrite` or `maintenance` has each kind of work.
`access` opens tables for jobs.
"""
