"""Tests of `optimizer.pruning` on a real Trino."""
