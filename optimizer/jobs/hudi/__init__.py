"""Spark programs that look at Hudi tables and run their services."""
