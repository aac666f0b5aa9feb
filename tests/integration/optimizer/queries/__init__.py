"""Integration tests of `optimizer.trino_table` and `optimizer.queries`."""
