"""Narrows a query of any SQL engine to the data files that its conditions can match.

A short Spark run plans each Iceberg table of the query with the file indexes, at one snapshot, and
the query comes back with `"$path" IN (...)` conditions (`_file` for Spark). What the indexes do not
cover is kept. See docs/indexes.md.
"""
