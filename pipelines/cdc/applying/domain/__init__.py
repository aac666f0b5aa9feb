"""The rules by which batches of changes become a table, without Spark."""
