"""The run that stays with near-line tables."""
