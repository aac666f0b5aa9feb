"""How existing tables enter lifecycle together, and how that is undone."""
