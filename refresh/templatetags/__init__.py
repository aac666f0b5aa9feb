"""Template tags of the refresh room."""
