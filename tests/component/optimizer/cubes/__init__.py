"""Cubes: definitions, what people ask of them, pages and API."""
