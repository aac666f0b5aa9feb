"""Pages of the optimizer room."""
