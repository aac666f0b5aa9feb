"""Reads of the room: what somebody may see of rules and of what is awaited."""
