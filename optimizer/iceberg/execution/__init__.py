"""The Spark program that executes tasks on Iceberg tables, and which class does each kind."""
