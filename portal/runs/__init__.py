"""Runs: what is running, its progress, and the takeover when its worker dies."""
