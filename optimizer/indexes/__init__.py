"""File indexes of Iceberg tables: their format, how they are built from values, how they answer.

`domain/` holds the pure part; the format is `docs/indexes.md`. Jobs that read tables and publish
indexes belong to `optimizer.iceberg`.
"""
