"""Applies batches of a changelog to Hudi tables of the lake, by version."""
