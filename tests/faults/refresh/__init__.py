"""Faults tests of `refresh`."""
