"""Rewriting of data files: bin packing, sort orders and curves, staging, replacing."""
