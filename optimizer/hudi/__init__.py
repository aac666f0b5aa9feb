"""Health and table services of Hudi tables."""
