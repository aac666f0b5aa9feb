"""Integration tests of `optimizer.trino_table`."""
