"""Writes of `lifecycle.enrollment`."""
