"""Decides when a partition is expected, when it is ready by a rule, and how late it is."""
