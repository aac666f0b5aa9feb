"""What readers of tables report: which indexes and cubes helped their queries, in counts alone."""
