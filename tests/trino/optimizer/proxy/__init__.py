"""Tests of `optimizer.proxy` on a real Trino."""
