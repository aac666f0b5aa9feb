"""Integration tests of `optimizer.queries`: real Spark and a real table."""
