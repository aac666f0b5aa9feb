"""The catalog: one row for each table of a lake, fed by metastore events and by scans.

Capabilities hang their own rows on `Table` instead of repeating lake, database and name (ADR 0034).
"""
