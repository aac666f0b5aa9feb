"""Writes of the room: a flag, through the metastore."""
