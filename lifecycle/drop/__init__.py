"""Approved backup-then-drop: plans, deletion requests, standing rules, and their runs."""
