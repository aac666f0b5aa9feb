"""Moves data of a table or partition to another place of its file system."""
