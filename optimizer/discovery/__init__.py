"""How the optimizer learns of tables: events of the metastore, and polls."""
