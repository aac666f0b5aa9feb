"""Compares captured tables with their sources, row by row, and repairs rows that differ."""
