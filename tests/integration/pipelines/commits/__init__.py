"""Changes between commits of real tables."""
