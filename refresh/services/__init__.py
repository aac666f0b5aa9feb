"""Writes of the refresh room: what changed, what is planned, what came of it."""
