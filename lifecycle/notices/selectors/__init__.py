"""Reads of `lifecycle.notices`."""
