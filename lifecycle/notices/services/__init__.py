"""Writes of `lifecycle.notices`."""
