"""Reads Trino's own table of queries, where its MySQL event listener writes one."""
