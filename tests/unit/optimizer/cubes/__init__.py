"""Cubes: definitions, coverage, masks and star-trees."""
