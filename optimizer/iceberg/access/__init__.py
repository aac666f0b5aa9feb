"""Access of jobs to Iceberg tables: catalog, errors, commits, orders and results."""
