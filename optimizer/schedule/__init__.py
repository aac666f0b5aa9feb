"""Does by hand what the clock does for advice: a played day of it, for demos and tests."""
