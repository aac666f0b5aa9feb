"""Reads the Parquet results of jobs, and removes them once they are ingested."""
