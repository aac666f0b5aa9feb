"""Audit record of what happened and who did it, with detection of later changes."""
