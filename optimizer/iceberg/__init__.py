"""File health of Iceberg tables."""
