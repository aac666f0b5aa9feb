"""Template tags of the lifecycle room."""
