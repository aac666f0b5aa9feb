"""Cubes built, merged and tidied at real tables."""
