"""Changes of the events tables, in order."""
