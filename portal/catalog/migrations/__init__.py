"""Changes of the catalog tables, in order."""
