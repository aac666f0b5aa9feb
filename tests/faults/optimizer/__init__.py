"""Faults tests of `optimizer`."""
