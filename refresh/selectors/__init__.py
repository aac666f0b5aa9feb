"""Reads of the refresh room: how tables stand, what waits, what was done."""
