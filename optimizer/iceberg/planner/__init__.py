"""What an Iceberg table needs, in which order it is done, and what came of it."""
