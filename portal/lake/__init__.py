"""Pure vocabulary of the lake: what a table, a partition, a path, a day and an error are.

Imports the standard library only, so that Spark jobs, connectors and Django share one meaning.
`formats.py` decides which Hive tables lifecycle may act on; the table formats of the optimizer
register with `optimizer/core`. `readiness.py` is the meaning of a partition's ready flag.
"""
