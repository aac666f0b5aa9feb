"""Registers and drops names in the metastore, with all that belongs to them."""
