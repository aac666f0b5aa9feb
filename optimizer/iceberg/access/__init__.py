"""How jobs reach Iceberg tables: catalog, errors, commits, orders and results."""
