"""Tests of `optimizer.rewriting` on a real Trino."""
