"""Pipelines: data that flows into the lake and through it, table by table.

`cdc` captures the changes of MySQL databases and applies them to Hudi tables, `commits` tells what
changed between two commits of a table, and `materialized` keeps aggregates up to date by that.
"""
