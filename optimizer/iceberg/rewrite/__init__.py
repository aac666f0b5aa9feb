"""Compaction and sorting of data files: bin packing, sort orders, staging and the commit.

`jobs/table_rewrite.py` drives the others: `planning`, `bin_packing`, `row_ordering`,
`rewrite_group`, `conflict_check` and `replace`.
"""
