"""Runs of `lifecycle.schedule`."""
