"""Tests of `optimizer.proxy`."""
