"""Commands of the slow kind."""
