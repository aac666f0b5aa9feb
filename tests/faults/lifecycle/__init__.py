"""Faults tests of `lifecycle`."""
