"""Commands of the refresh room."""
