"""The optimizer: file health, compaction and table services of Iceberg and Hudi tables.

`discovery` learns of tables from metastore events and polls. Each format, `iceberg` and `hudi`,
records what changed (folder `tables`), inspects metadata (`inspect`), decides which tasks a table
needs (`planner`) and executes them in Spark. `core` has the one queue of tasks; `policies` says
what people want; `removals` has the lists that people approve before anything is deleted; `console`
shows the queue.

From a commit to a compaction: `optimizer/iceberg/__init__.py`. Where a new table format, a new
index kind or a new kind of maintenance goes: `optimizer/core/__init__.py`.
"""
