"""Pipelines: data that flows into the lake and through it, table by table.

`cdc` captures the changes of MySQL databases and applies them to Hudi tables.
"""
