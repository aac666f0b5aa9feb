"""Materializations in the portal."""
