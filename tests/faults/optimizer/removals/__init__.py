"""Faults tests of `optimizer/removals`."""
