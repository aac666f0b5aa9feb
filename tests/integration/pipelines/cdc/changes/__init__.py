"""Changelogs over real servers."""
