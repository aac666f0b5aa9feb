"""Commands that run the background work."""
