"""Commands of the optimizer room."""
