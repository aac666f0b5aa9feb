"""Rows of the pipelines, from each capability; Django finds them here."""
