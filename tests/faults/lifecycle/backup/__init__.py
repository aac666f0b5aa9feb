"""Faults tests of `lifecycle/backup`."""
