"""Writes of `quality.ready_flag`."""
