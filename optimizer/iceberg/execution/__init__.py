"""The program that executes tasks on Iceberg tables."""
