"""Services that follow the commits of tables."""
