"""Tests of `optimizer` on a real Trino."""
