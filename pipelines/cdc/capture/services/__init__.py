"""Runs a capture with the connectors that it needs."""
