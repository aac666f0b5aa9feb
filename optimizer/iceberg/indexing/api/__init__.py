"""API of file indexes: what a table has, and what readers report."""
