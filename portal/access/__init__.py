"""Users and their permissions, the governed lakes, and the registry of pages."""
