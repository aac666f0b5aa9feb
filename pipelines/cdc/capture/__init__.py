"""Capture: one process a source reads tables and binary log and writes the changelog."""
