"""What is decided of Hudi tables: their services, quality and health, by pure rules."""
