"""Writes of the lifecycle room: one transaction each."""
