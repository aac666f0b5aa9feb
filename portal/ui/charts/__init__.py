"""Draws charts and sparklines, with the same numbers as words."""
