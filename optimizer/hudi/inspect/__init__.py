"""Inspection of timelines, file slices and logs, and the health that follows."""
