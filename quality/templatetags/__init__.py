"""Template tags of quality."""
