"""Pure vocabulary of the lake: what a table, a partition, a path, a day and an error are.

Imports the standard library only, so that Spark jobs, connectors and Django share one meaning.
"""
