"""Keeps cubes of Iceberg tables: builds, merges after rewrites, coverage (docs/cubes.md)."""
