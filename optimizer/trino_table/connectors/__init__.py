"""Clients of `optimizer.trino_table`."""
