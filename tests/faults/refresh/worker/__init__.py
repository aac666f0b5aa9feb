"""Faults tests of `refresh/worker`."""
