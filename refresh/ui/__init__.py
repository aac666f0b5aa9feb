"""Pages of the refresh room."""
